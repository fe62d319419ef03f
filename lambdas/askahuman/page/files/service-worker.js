// Keeps the page for when there is no network, and shows notifications. It never keeps what the API answers.

const files = {{json (assets "*")}}.concat({{json (assets "*/*")}});
const kept = 'page ' + files[0].split('/')[2];
const shell = '/';
const views = /^\/(q\/[^/]+|me|leaderboard|settings)?$/;

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

addEventListener('push', (event) => {
  let message = {};
  try {
    message = event.data?.json() ?? {};
  } catch {
    // A message that is no JSON is none of the notifier's. Browsers ask for a notification of each all the same.
  }
  const {title, body} = message.notification ?? {};
  const data = message.data ?? {};
  event.waitUntil(registration.showNotification(title || 'Ask-a-Human', {
    body: body ?? '',
    icon: files.find((name) => name.endsWith('/icon-192.png')),
    tag: data.question_id ?? 'question',
    data: {link: data.link ?? data.url ?? message.fcmOptions?.link ?? shell},
  }));
});

addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.link));
});

async function open(link) {
  let url = new URL(shell, location.origin);
  try {
    const given = new URL(link, location.origin);
    if (given.protocol === 'https:' || given.origin === location.origin) url = given;
  } catch {
    // A link that is none leads to the questions.
  }
  if (url.origin === location.origin) {
    for (const tab of await clients.matchAll({type: 'window'})) {
      // The page changes its view itself: a draft stays.
      tab.postMessage({open: url.pathname + url.search});
      return tab.focus();
    }
  }
  return clients.openWindow(url.href);
}
