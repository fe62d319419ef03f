// Compares what the page understands with days.txt: a language, a line, its title, and the day that is meant. It
// runs on the day that the first line names.

import {readFile} from 'node:fs/promises';

const here = (name) => new URL(name, import.meta.url);
const source = (await readFile(here('../modules/days.js'))).toString('base64');
const {find} = await import(`data:text/javascript;base64,${source}`);

const lines = (await readFile(here('days.txt'), 'utf8')).split('\n').filter((line) => line && !line.startsWith('#'));
const now = new Date(`${lines.shift()}T10:00`);
for (const line of lines) {
  const [language, written, title, day] = line.split(' | ');
  const words = written.split(' '), found = find(words, language, now);
  if (found) words.splice(found.from, found.to - found.from);
  const got = `${words.join(' ')} | ${found?.day ?? '-'}`;
  if (got === `${title} | ${day}`) continue;
  console.log(`${language} | ${written}: got ${got}, want ${title} | ${day}`);
  process.exitCode = 1;
}
if (lines.length < 60) throw new Error(`days.txt has ${lines.length} lines`);
