// Elements are made here, from texts: nothing that a stranger wrote is ever read as HTML.

/**
 * h makes an element. Attributes that begin with "on" are listeners, and value, checked and disabled are properties;
 * null, undefined and false leave one out.
 */
export const h = (name, attributes, ...children) => made(document.createElement(name), attributes, children);

/** svg makes an element of a drawing, as h does. */
export const svg = (name, attributes, ...children) =>
  made(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);

function made(element, attributes, children) {
  for (const [key, given] of Object.entries(attributes ?? {})) {
    if (given === null || given === undefined || given === false) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), given);
    else if (key === 'value' || key === 'checked' || key === 'disabled') element[key] = given;
    else element.setAttribute(key, given === true ? '' : String(given));
  }
  return add(element, children);
}

/** add appends nodes and texts, in lists or not. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) element.append(child);
  }
  return element;
}

/** put replaces what an element contains. */
export function put(element, ...children) {
  element.replaceChildren();
  return add(element, children);
}

/** foreign is a text of a stranger, in the direction that it has itself. */
export const foreign = (name, attributes, text) => h(name, {dir: 'auto', ...attributes}, text);

/** link is a link to a view of this page. */
export const link = (href, attributes, ...children) => h('a', {href, ...attributes}, children);

/** heading is the heading of a view. It gets the focus when someone has come from another one. */
export const heading = (...text) => h('h1', {tabindex: '-1'}, text);

/** figure is a number with its name, in a list of these. */
export const figure = (name, value) => h('div', null, h('dt', null, name), h('dd', null, value));

const said = document.getElementById('said');

/** say tells people who listen. */
export function say(text) {
  // The same text again would not be heard.
  said.textContent = said.textContent === text ? `${text}\u00a0` : text;
}
