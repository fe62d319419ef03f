// Elements are made here, from texts: nothing that strangers stored is ever read as HTML.

import {directionOf, sorted, turn} from './sorting.js';

/** h makes an element. Attributes that begin with "on" are listeners; style is an object; null, undefined and false
 * leave one out. */
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** svg makes an element of a drawing. */
export function svg(name, attributes, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name === 'style') {
      for (const [property, given] of Object.entries(value)) element.style.setProperty(property, given);
    }
    else if (name === 'value') element.value = value;
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  add(element, children);
  return element;
}

/** add appends nodes and texts, in lists or not. */
export function add(element, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

/** put replaces what an element contains. Focus stays on the element with the same data-key. */
export function put(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset?.key : undefined;
  element.replaceChildren();
  add(element, children);
  if (focused) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({preventScroll: true});
  return element;
}

/**
 * table makes a table with a caption. A column has a label, cell(row), which returns a node or text, and may have
 * number, and class for its cells: roomy leaves it out where there is little space. The first column names the row. A
 * click on a heading sorts the rows (sorting.js), unless the column's sorts is false.
 */
export function table({caption, columns, rows, empty, named = true, class: kind}) {
  if (rows.length === 0) return h('p', {class: 'empty'}, empty ?? 'There is nothing here yet.');
  const elements = rows.map((row) => rowOf(columns, row, named));
  const body = h('tbody', null, sorted(columns, elements));
  return scroll(caption, h('table', {class: kind},
    h('caption', null, caption),
    head(columns, () => body.replaceChildren(...sorted(columns, elements))),
    body));
}

/** head makes the headings of a table's columns. sort is called when someone has chosen another order. */
export function head(columns, sort) {
  const button = (column) => h('button', {type: 'button', class: 'sort', 'data-key': `sort ${column.label}`,
    onclick: () => {
    turn(columns, column);
    // Tables with the same columns, such as those of all platforms, have one order.
    for (const one of document.querySelectorAll('main thead')) one.dispatchEvent(new Event('turned'));
  }}, column.label);
  const headings = columns.map((column) => h('th', {scope: 'col', class: classOf(column)},
    column.sorts === false ? column.label : button(column)));
  const mark = () => columns.forEach((column, i) => {
    const direction = directionOf(columns, column);
    if (direction) headings[i].setAttribute('aria-sort', direction);
    else headings[i].removeAttribute('aria-sort');
  });
  mark();
  return h('thead', {onturned: () => {
    mark();
    sort();
  }}, h('tr', null, headings));
}

const classOf = (column) => [column.number ? 'number' : '', column.class ?? ''].join(' ').trim() || null;

/** rowOf makes one row of a table. */
export function rowOf(columns, row, named = true) {
  return h('tr', null, columns.map((column, i) => {
    const kind = classOf(column);
    return i === 0 && named ? h('th', {scope: 'row', class: kind}, column.cell(row))
      : h('td', {class: kind}, column.cell(row));
  }));
}

/** text shows a text as it was written, which scrolls by keyboard too. */
export function pre(label, ...content) {
  return h('pre', {tabindex: '0', role: 'group', 'aria-label': label}, content);
}

/** scroll is a region that scrolls to the sides, by keyboard too. */
export function scroll(label, content) {
  return h('div', {class: 'scroll', role: 'region', tabindex: '0', 'aria-label': label}, content);
}

/** field is a labelled control. */
export function field(label, control, kind) {
  return h('label', {class: kind}, label, control);
}

/** searchField is a control that tells what was typed, a moment after the last letter. */
export function searchField(value, placeholder, tell) {
  let typing;
  const control = h('input', {type: 'search', value, placeholder, autocomplete: 'off', spellcheck: 'false',
    oninput: () => {
    clearTimeout(typing);
    typing = setTimeout(() => tell(control.value.trim()), 200);
  }});
  return control;
}

/** chips are buttons of which one is pressed or none: [value, text]. choose gets the value, or '' when none is. */
export function chips(label, choices, chosen, choose) {
  const buttons = choices.map(([value, text]) =>
    h('button', {type: 'button', 'aria-pressed': String(value === chosen), onclick: (event) => {
    const pressed = event.target.getAttribute('aria-pressed') === 'true';
    for (const one of buttons) one.setAttribute('aria-pressed', String(one === event.target && !pressed));
    choose(pressed ? '' : value);
  }}, text));
  return h('div', {class: 'chips', role: 'group', 'aria-label': label}, buttons);
}

/** select makes a list of choices: [value, text] or texts. */
export function select(choices, chosen, attributes) {
  return h('select', attributes, choices.map((choice) => {
    const [value, text] = Array.isArray(choice) ? choice : [choice, choice];
    return h('option', {value, selected: value === chosen}, text);
  }));
}

/** problem shows an error. */
export function problem(error, what) {
  return h('div', {class: 'problem', role: 'alert'}, h('strong', null, what ?? 'That failed. '), ' ', error.message ??
    String(error));
}

let silence;

/** say tells people what has happened, aloud for those who listen. */
export function say(text) {
  const said = document.getElementById('said');
  said.textContent = text;
  clearTimeout(silence);
  silence = setTimeout(() => { said.textContent = ''; }, 6000);
}

/** action is a button that works: it is off meanwhile, and errors are said. With sure, it asks once more. */
export function action(label, work, {sure, kind, key, describedby} = {}) {
  let asked = false;
  const back = () => {
    asked = false;
    button.textContent = label;
  };
  const button = h('button', {type: 'button', class: kind, 'data-key': key, 'aria-describedby': describedby,
    onclick: async () => {
    if (sure && !asked) {
      asked = true;
      button.textContent = sure;
      say(sure);
      return;
    }
    back();
    button.setAttribute('aria-busy', 'true');
    button.disabled = true;
    try {
      await work();
    } catch (error) {
      if (error.name !== 'AbortError') say(error.message);
    } finally {
      button.disabled = false;
      button.removeAttribute('aria-busy');
    }
  }, onblur: () => asked && back(), onkeydown: (event) => event.key === 'Escape' && back()}, label);
  return button;
}

/** copy is a button that copies a text. */
export function copy(text, label = 'Copy') {
  return action(label, async () => {
    await navigator.clipboard.writeText(text());
    say('Copied');
  });
}

/** dialog opens a modal with a heading. Escape and the button close it, and the focus goes back. It returns what
 * closes it. */
export function dialog(heading, ...content) {
  const before = document.activeElement;
  const box = h('dialog', {'aria-labelledby': 'dialog-heading', onclose: () => {
    box.remove();
    if (before?.isConnected) before.focus();
  }}, h('h2', {id: 'dialog-heading', style: {'margin-top': '0'}}, heading), content);
  document.body.append(box);
  box.showModal();
  return () => box.close();
}
