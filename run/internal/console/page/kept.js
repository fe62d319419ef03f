// What the tab keeps of someone's work, until it is closed. Where a browser keeps nothing, or is full, nothing is
// kept.

/** kept reads what keep wrote under a name, or returns otherwise. */
export function kept(name, otherwise) {
  try {
    return JSON.parse(sessionStorage.getItem(name)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch { /* it is gone with the view */ }
}
