// Checks what a page makes of an answer that is an error: its kind, its message, and its Retry-After, which is a number
// of seconds that timers take.

import {readFile} from 'node:fs/promises';

const source = (await readFile(new URL('../modules/requests.js', import.meta.url))).toString('base64');
const {problemOf} = await import(`data:text/javascript;base64,${source}`);

const inAnHour = new Date(Date.now() + 3_600_000).toUTCString();
for (const [header, least, most] of [['30', 30, 30], ['0', 1, 1], ['86401', 86400, 86400],
  ['2147484', 86400, 86400], ['9223372036854775807', 86400, 86400], ['9'.repeat(400), 86400, 86400],
  [inAnHour, 3000, 3600], ['Mon, 02 Jan 2006 15:04:05 GMT', 1, 1], ['Fri, 31 Dec 9999 23:59:59 GMT', 86400, 86400],
  // What is neither seconds nor a date: a page waits as if there were no header.
  ['', 60, 60], ['soon', 60, 60], ['-5', 60, 60], ['12 monkeys', 60, 60], ['1e9', 60, 60], ['GMT', 60, 60]]) {
  const {kind, after} = problemOf({status: 429, headers: new Headers({'Retry-After': header})}, '');
  if (kind === 'limited' && after >= least && after <= most) continue;
  console.log(`Retry-After: ${header.slice(0, 40)}: got ${kind} for ${after} s, want ${least} to ${most}`);
  process.exitCode = 1;
}

for (const [status, text, kind, message] of [
  [409, '{"error":{"code":"TAKEN","message":"a"}}', 'taken', 'a'], [409, '{"error":"b"}', 'refused', 'b'],
  [409, '{"success":false,"message":"c","error_code":"TAKEN","details":[]}', 'taken', 'c'],
  [422, '{"detail":[{"message":"d"},{"message":"e"}]}', 'refused', 'd; e'], [404, '{"detail":"f"}', 'gone', 'f'],
  // Of the gateway, and of what is no error of anyone's.
  [404, '{"message":"Not Found"}', 'gone', 'gone'], [502, '<html>', 'server', 'server'],
  [400, 'null', 'refused', 'refused'],
]) {
  const got = problemOf({status, headers: new Headers()}, text, {TAKEN: 'taken'});
  if (got.kind === kind && got.message === message) continue;
  console.log(`${text}: got ${got.kind} with ${got.message}, want ${kind} with ${message}`);
  process.exitCode = 1;
}
