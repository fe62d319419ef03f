// Notifications. The browser's own push service gives this device an address; Firebase makes a token of it; the
// platform keeps the token.
//
// Firebase's part is two requests of its web SDK: one makes an installation (FIS_v2), one registers the push
// subscription. The SDK itself is larger than this page, and loads its parts from another origin.

import {decode, encode} from '../../../kit/webapp/modules/base64url.js';
import {Problem} from '../../../kit/webapp/modules/requests.js';
import {settings} from '../../../kit/webapp/modules/settings.js';
import {read, remove, write} from '../../../kit/webapp/modules/store.js';
import {call} from './api.js';
import * as inbox from './inbox.js';
import * as operations from './operations.js';

const installations = 'https://firebaseinstallations.googleapis.com/v1';
const registrations = 'https://fcmregistrations.googleapis.com/v1';
// What the service takes for a version of its web SDK.
const version = 'w:0.6.9';
const patience = 20_000;
const day = 24 * 60 * 60 * 1000;
const key = 'push';

/** Denied says that the person, or the browser, allows no notifications. */
class Denied extends Error {
  kind = 'denied';
}

/** supported reports whether this browser can be notified. */
export const supported = () => 'PushManager' in globalThis && 'Notification' in globalThis &&
  'serviceWorker' in navigator;

/** subscribe asks the person, and subscribes this device. */
export async function subscribe(minutes) {
  if (await Notification.requestPermission() !== 'granted') throw new Denied();
  const subscription = await subscriptionOf();
  const device = await register(subscription, {});
  const {subscription_id: id} = await call(operations.subscribe, {},
    {body: {fcm_token: device.token, min_interval_minutes: minutes}});
  write(key, {...device, id, minutes});
}

/** changeInterval changes how often this device may be notified. */
export async function changeInterval(minutes) {
  const kept = read(key);
  await call(operations.changeSubscription, {subscription_id: kept.id}, {body: {min_interval_minutes: minutes}});
  write(key, {...kept, minutes});
}

/**
 * unsubscribe ends the notifications of this device, also while the server cannot be reached: it drops a token that no
 * browser has.
 */
export async function unsubscribe() {
  const kept = read(key);
  inbox.close();
  const worker = await navigator.serviceWorker.getRegistration();
  await (await worker?.pushManager.getSubscription())?.unsubscribe();
  remove(key);
  if (!kept) return;
  try {
    await call(operations.unsubscribe, {subscription_id: kept.id});
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
}

/**
 * renew keeps a subscription alive: browsers give a device another address from time to time, and Firebase wants to
 * hear of it once a week. It does nothing for a device that is not subscribed.
 */
export async function renew(now = Date.now()) {
  const kept = read(key);
  if (!kept || !supported()) return;
  if (Notification.permission !== 'granted') {
    await unsubscribe();
    return;
  }
  const subscription = await subscriptionOf();
  if (kept.endpoint === subscription.endpoint && now - kept.registered < 7 * day) return;
  const device = await register(subscription, kept, now);
  let {id} = kept;
  try {
    // Also with the same token: a subscription that the platform has given up is good again.
    await call(operations.changeSubscription, {subscription_id: id}, {body: {fcm_token: device.token}});
  } catch (error) {
    if (!(error instanceof Problem) || error.kind !== 'gone') throw error;
    ({subscription_id: id} = await call(operations.subscribe, {},
      {body: {fcm_token: device.token, min_interval_minutes: kept.minutes}}));
  }
  write(key, {...kept, ...device, id});
}

async function subscriptionOf() {
  if (settings.inbox) return inbox.open(read(key)?.token);
  const worker = await navigator.serviceWorker.ready;
  const wanted = settings.firebase.vapidKey;
  const existing = await worker.pushManager.getSubscription();
  if (existing && encode(existing.options.applicationServerKey) === wanted) return existing;
  await existing?.unsubscribe();
  // A browser that does not reach its push service tries for as long as it runs.
  return Promise.race([worker.pushManager.subscribe({userVisibleOnly: true, applicationServerKey: decode(wanted)}),
    late()]);
}

const late = () => new Promise((_, fail) => setTimeout(() =>
  fail(new Problem('offline', {message: 'the push service does not answer'})), patience));

/** register returns the token of a push subscription, with what renews it. */
async function register(subscription, kept, now = Date.now()) {
  if (settings.inbox) return {...subscription, registered: now};
  const {firebase} = settings;
  const installation = await installationOf(kept.installation, now);
  const {endpoint, keys} = subscription.toJSON();
  const address = `${registrations}/projects/${encodeURIComponent(firebase.projectId)}/registrations`;
  const body = {web: {endpoint, p256dh: keys.p256dh, auth: keys.auth, applicationPubKey: firebase.vapidKey}};
  const headers = {'x-goog-firebase-installations-auth': `FIS ${installation.auth}`};
  let answer;
  try {
    answer = kept.token
      ? await ask('PATCH', `${address}/${encodeURIComponent(kept.token)}`, body, headers)
      : await ask('POST', address, body, headers);
  } catch (error) {
    // A registration that the service knows no more is made once more.
    if (!kept.token || error.kind !== 'gone') throw error;
    answer = await ask('POST', address, body, headers);
  }
  if (typeof answer.token !== 'string') throw new Problem('server', {message: 'the push service gave no token'});
  return {token: answer.token, endpoint, registered: now, installation};
}

/** installationOf returns an installation whose authorisation is good for an hour at least. */
async function installationOf(kept, now) {
  const {firebase} = settings;
  const address = `${installations}/projects/${encodeURIComponent(firebase.projectId)}/installations`;
  if (kept && kept.expires > now + day / 24) return kept;
  if (kept) {
    try {
      const answer = await ask('POST', `${address}/${kept.id}/authTokens:generate`,
        {installation: {sdkVersion: version}}, {Authorization: `FIS_v2 ${kept.refresh}`});
      return {...kept, auth: answer.token, expires: expiry(answer, now)};
    } catch (error) {
      // An installation that was removed there is made once more.
      if (error.kind !== 'gone' && error.kind !== 'refused') throw error;
    }
  }
  const id = installationID();
  const answer = await ask('POST', address, {fid: id, authVersion: 'FIS_v2', appId: firebase.appId,
    sdkVersion: version}, {});
  return {id: answer.fid || id, refresh: answer.refreshToken, auth: answer.authToken.token,
    expires: expiry(answer.authToken, now)};
}

const expiry = ({expiresIn}, now) => now + 1000 * Number.parseInt(expiresIn, 10);

/** installationID is 22 characters of base64url whose first four bits are 0111. */
export function installationID() {
  const bytes = crypto.getRandomValues(new Uint8Array(17));
  bytes[0] = 0x70 | bytes[0] & 0x0f;
  return encode(bytes).slice(0, 22);
}

async function ask(method, address, body, headers) {
  let answer;
  try {
    answer = await fetch(address, {
      method, credentials: 'omit', body: JSON.stringify(body), signal: AbortSignal.timeout?.(patience),
      headers: {'Content-Type': 'application/json', Accept: 'application/json',
        'x-goog-api-key': settings.firebase.apiKey, ...headers},
    });
  } catch (error) {
    throw new Problem('offline', {message: error.message});
  }
  const text = await answer.text();
  if (!answer.ok) throw new Problem(answer.status === 404 ? 'gone' : answer.status >= 500 ? 'server' : 'refused',
    {message: `${address}: ${answer.status}`});
  return JSON.parse(text);
}
