// Faults as switches.

import {get, post} from '../api.js';
import * as attention from '../attention.js';
import {action, field, h, put, say} from '../dom.js';

export const name = 'faults';
export const title = 'Faults';

const kinds = [
  ['throttle', 'Throttle', 'DynamoDB and S3 refuse requests, as they do when capacity is used up.', 0.05],
  ['transaction_conflict', 'Transaction conflict',
    'DynamoDB refuses writes and transactions, as it does when another transaction has the item.', 0.05],
  ['drop_response', 'Drop response',
    'DynamoDB or S3 carries the request out, and the connection breaks before the answer.', 0.01],
  ['hang', 'Hang', 'DynamoDB never answers the request, and may have carried it out.', 0.001],
  ['redeliver', 'Redeliver',
    'A finished batch of a stream comes again, cut at another place. An event of a bus comes twice.', 0.1],
];

// The slider is finer where probabilities are small: its cube is the probability.
const steps = 100;
const probability = (step) => Number(((step / steps) ** 3).toPrecision(2));
const stepOf = (value) => Math.round(Math.cbrt(value) * steps);
const percent = (value) => (value === 0 ? 'off' : `${Number((100 * value).toPrecision(2))} %`);

export async function show({signal}) {
  let faults = await get('/faults', null, signal);
  const state = h('p', {class: 'muted', role: 'status'});
  const controls = kinds.map(([key, label, text, usual]) => {
    const slider = h('input', {type: 'range', min: '0', max: String(steps), step: '1', 'aria-labelledby': `${key}-name`,
      'aria-describedby': `${key}-text`});
    const output = h('output');
    const turn = h('button', {type: 'button', role: 'switch', 'data-key': key, 'aria-labelledby': `${key}-name`});
    const draw = () => {
      slider.value = stepOf(faults[key]);
      slider.setAttribute('aria-valuetext', percent(faults[key]));
      output.textContent = percent(faults[key]);
      turn.setAttribute('aria-checked', String(faults[key] > 0));
      turn.textContent = faults[key] > 0 ? 'Turn off' : `Turn on (${percent(usual)})`;
    };
    turn.addEventListener('click', () => change({[key]: faults[key] > 0 ? 0 : usual}));
    slider.addEventListener('input', () => {
      output.textContent = percent(probability(slider.valueAsNumber));
      slider.setAttribute('aria-valuetext', output.textContent);
    });
    slider.addEventListener('change', () => change({[key]: probability(slider.valueAsNumber)}));
    return {draw, element: h('section', {class: 'card fault'}, h('h2', {id: `${key}-name`}, label),
      h('p', {id: `${key}-text`}, text), slider, output, turn)};
  });
  const seed = h('input', {type: 'number', min: '0', step: '1', value: String(faults.seed)});
  seed.addEventListener('change', () => change({seed: Math.max(0, Math.trunc(Number(seed.value) || 0))}));
  const draw = () => {
    for (const control of controls) control.draw();
    const on = kinds.filter(([key]) => faults[key] > 0).map(([, label]) => label.toLowerCase());
    put(state, on.length === 0 ? 'All faults are off.' : `On: ${on.join(', ')}.`);
  };
  const change = async (some) => {
    try {
      faults = await post('/faults', {...faults, ...some}, signal);
    } catch (error) {
      if (error.name !== 'AbortError') say(error.message);
    }
    draw();
    await attention.look();
  };
  draw();
  return [
    h('h1', {tabindex: '-1'}, title),
    h('p', {class: 'muted'}, 'AWS does this now and then. Here you say how often it happens to requests of functions.'),
    h('div', {class: 'bar'}, action('Turn all off', () => change(Object.fromEntries(kinds.map(([key]) => [key, 0]))),
      {kind: 'primary', key: 'all'}), field('Seed, which repeats a sequence', seed), state),
    h('div', {class: 'faults'}, controls.map((control) => control.element)),
  ];
}
