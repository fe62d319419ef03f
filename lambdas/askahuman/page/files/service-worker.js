// Shows notifications.

addEventListener('push', (event) => event.waitUntil(show(event.data?.text())));

// The page of a local run gets messages itself, from the run's inbox.
addEventListener('message', (event) => {
  if (typeof event.data?.push === 'string') event.waitUntil(show(event.data.push));
});

function show(text) {
  let message = {};
  try {
    message = JSON.parse(text) ?? {};
  } catch {
    // A message that is no JSON is none of the notifier's. Browsers ask for a notification of each all the same.
  }
  const {title, body} = message.notification ?? {};
  const data = message.data ?? {};
  return registration.showNotification(title || 'Ask-a-Human', {
    body: body ?? '',
    icon: files.find((name) => name.endsWith('/icon-192.png')),
    tag: data.question_id ?? 'question',
    data: {link: data.link ?? data.url ?? message.fcmOptions?.link ?? shell},
  });
}

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
