// What is kept of a person, page by page.

/** copied returns all of it. read returns the page of a cursor; the first one has none. */
export async function copied(read) {
  const all = [];
  let cursor = '';
  do {
    const {next_cursor: next, ...page} = await read(cursor);
    all.push(page);
    cursor = next;
  } while (cursor);
  return all;
}

/** erased deletes it, call by call. */
export async function erased(erase) {
  for (let more = true; more;) {
    let wait;
    ({more = false, wait_seconds: wait = 0} = await erase());
    await new Promise((done) => setTimeout(done, wait * 1000));
  }
}
