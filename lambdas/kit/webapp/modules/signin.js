// Signing in at the pages of a user pool (OAuth 2.0 authorization code grant with a proof key, RFC 7636). Tokens are
// kept for this tab alone, as long as it is open: no other tab, and no other visit, has them.

import {decode, encode} from './base64url.js';
import {key} from './settings.js';
import {Problem} from './requests.js';
import {storage} from './store.js';

const early = 60_000;

const random = () => encode(crypto.getRandomValues(new Uint8Array(32)));

/** claims reads what a token says. The token endpoint gave it, so its signature says nothing more. */
export function claims(token) {
  try {
    return JSON.parse(new TextDecoder().decode(decode(token.split('.')[1]))) ?? {};
  } catch {
    return {};
  }
}

const loopback = /^(localhost|127\.0\.0\.1|\[::1\])$/;

/**
 * elsewhere is the address at which the page signs people in, if this is another one. same says that both are names of
 * this machine.
 */
export function elsewhere(page, here = location) {
  const url = new URL(page);
  if (url.origin === here.origin) return null;
  return {address: page, same: loopback.test(url.hostname) && loopback.test(here.hostname)};
}

/** account returns {finish, begin, leave, token, name, signedIn}. given are the settings that webapp.SignIn has. */
export function account(given) {
  const {url, client, page} = given;
  const area = storage(() => globalThis.sessionStorage, `${key}.sign-in.`);
  let refreshing = null;

  async function ask(path, form) {
    let answer;
    try {
      answer = await fetch(url + path, {
        method: 'POST', body: new URLSearchParams({client_id: client, ...form}), credentials: 'omit', cache: 'no-store',
        redirect: 'error', keepalive: true,
      });
    } catch (error) {
      throw new Problem('offline', {message: error.message});
    }
    const read = await answer.json().catch(() => ({}));
    if (answer.ok) return read;
    throw new Problem(answer.status < 500 ? 'signedOut' : 'server', {status: answer.status, message: read.error ?? ''});
  }

  function keep(answer, before = {}) {
    if (typeof answer.access_token !== 'string') throw new Problem('signedOut', {message: 'no token'});
    area.write('tokens', {
      access: answer.access_token, refresh: answer.refresh_token ?? before.refresh ?? null,
      until: Date.now() + 1000 * (answer.expires_in ?? 0),
      name: answer.id_token ? nameOf(claims(answer.id_token)) : before.name ?? '',
    });
  }

  /** begin sends people to the sign-in pages. They come back to the view where they are. */
  async function begin() {
    const state = random(), verifier = random(), nonce = random();
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier));
    area.write('begun', {state, verifier, nonce, back: location.pathname + location.search});
    location.assign(`${url}/oauth2/authorize?${new URLSearchParams({
      response_type: 'code', client_id: client, redirect_uri: page, scope: 'openid email', state, nonce,
      code_challenge_method: 'S256', code_challenge: encode(digest),
    })}`);
  }

  /** finish takes what the sign-in pages sent people back with, and returns a Problem if that signs nobody in. */
  async function finish() {
    const sent = new URLSearchParams(location.search);
    if (!sent.has('state') || !(sent.has('code') || sent.has('error'))) return null;
    const begun = area.read('begun');
    area.remove('begun');
    // The code is for one use, and nobody should find it in the address.
    history.replaceState(null, '', begun?.back ?? location.pathname);
    if (!begun || begun.state !== sent.get('state')) return new Problem('notBegun');
    if (sent.has('error')) {
      return new Problem('notSignedIn', {message: sent.get('error_description') ?? sent.get('error')});
    }
    try {
      const answer = await ask('/oauth2/token', {grant_type: 'authorization_code', code: sent.get('code'),
        redirect_uri: page, code_verifier: begun.verifier});
      if (claims(answer.id_token ?? '').nonce !== begun.nonce) return new Problem('notBegun');
      keep(answer);
      return null;
    } catch (error) {
      if (error instanceof Problem && error.kind !== 'signedOut') return error;
      return new Problem('notSignedIn', {message: error.message});
    }
  }

  async function refresh(tokens) {
    if (!tokens.refresh) throw new Problem('signedOut');
    try {
      keep(await ask('/oauth2/token', {grant_type: 'refresh_token', refresh_token: tokens.refresh}), tokens);
    } catch (error) {
      if (error.kind === 'signedOut') area.remove('tokens');
      throw error;
    }
  }

  /** token returns a token that is valid for a while. Requests at the same time share a refresh. */
  async function token() {
    const tokens = area.read('tokens');
    if (!tokens) throw new Problem('signedOut');
    if (tokens.until - early > Date.now()) return tokens.access;
    refreshing ??= refresh(tokens).finally(() => { refreshing = null; });
    await refreshing;
    const next = area.read('tokens');
    if (!next) throw new Problem('signedOut');
    return next.access;
  }

  /** forget signs people out in this tab: the API no longer takes their token. */
  const forget = () => area.remove('tokens');

  /** leave signs people out, here and at the sign-in pages. */
  async function leave() {
    const tokens = area.read('tokens');
    forget();
    if (tokens?.refresh) await ask('/oauth2/revoke', {token: tokens.refresh}).catch(() => { /* It ends by itself. */ });
    location.assign(`${url}/logout?${new URLSearchParams({client_id: client, logout_uri: page})}`);
  }

  return {
    begin, finish, leave, forget, token,
    signedIn: () => area.read('tokens') !== null,
    name: () => area.read('tokens')?.name ?? '',
  };
}

/** nameOf is what people know themselves by. */
const nameOf = (said) => said.email ?? said['cognito:username'] ?? said.sub ?? '';
