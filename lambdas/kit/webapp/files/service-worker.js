// Keeps the page for when there is no network. It never keeps what the API answers.

const files = {{json (assets "*")}}.concat({{json (assets "*/*")}});
const kept = 'page ' + files[0].split('/')[2];
const shell = {{json .Home}};
const views = new RegExp({{json .Pattern}});

addEventListener('install', (event) => {
  event.waitUntil(caches.open(kept).then((cache) => cache.addAll([...files, new Request(shell, {cache: 'no-cache'})])));
});

// A new worker waits until no tab has the former page open, so no tab loses its files.
addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    for (const name of await caches.keys()) if (name.startsWith('page ') && name !== kept) await caches.delete(name);
    await clients.claim();
  })());
});

addEventListener('fetch', (event) => {
  const {request} = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin) return;
  if (request.mode === 'navigate' && views.test(url.pathname)) event.respondWith(view(request));
  else if (url.pathname.startsWith('/assets/')) event.respondWith(file(request));
});

// The newest page where there is a network; the one that is kept where there is none, or where the server fails.
async function view(request) {
  try {
    const answer = await fetch(request);
    if (answer.status < 500) return answer;
    return await caches.match(shell) ?? answer;
  } catch (error) {
    const answer = await caches.match(shell);
    if (answer) return answer;
    throw error;
  }
}

async function file(request) {
  return await caches.match(request) ?? fetch(request);
}
