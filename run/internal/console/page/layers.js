// Where the parts of a map are drawn: in columns, along the arrows. Figures change nothing here, so a drawing stands
// still while they grow.

// The space between columns holds the figures of arrows, and each arrow has a line of its own at both its ends.
const between = 76;
const apart = 12;
const perArrow = 15;

// In which column parts are that nothing leads to.
const first = {routes: 0, schedule: 0, 'user pool': 0, function: 1};

/**
 * layers places parts: sizeOf(part) is {width, height}, at the least. The answer has the places of parts and of arrows,
 * in the order in which these were given.
 */
export function layers(parts, arrows, sizeOf) {
  const column = columnsOf(parts, arrows);
  const columns = [];
  for (const part of parts) (columns[column.get(part.id)] ??= []).push(part.id);
  const filled = columns.filter(Boolean);
  untangle(filled, arrows);
  const ends = arrows.map(({from, to}) => endsOf(column.get(from), column.get(to)));
  const boxes = boxesOf(parts, filled, arrows, ends, sizeOf);
  place(filled, boxes);
  const places = arrows.map(() => ({}));
  for (const part of parts) {
    for (const side of ['left', 'right']) attach(part.id, side, {arrows, ends, boxes, places});
  }
  const all = [...boxes.values()];
  return {
    width: Math.max(0, ...all.map((box) => box.x + box.width)) + between / 2,
    height: Math.max(0, ...all.map((box) => box.y + box.height)),
    boxes, arrows: places.map((one, i) => lineOf(one, ends[i])),
  };
}

/**
 * columnsOf counts how many arrows lead to each part at the least. Queues of what failed stand behind those that send
 * to them, and need no column of their own.
 */
function columnsOf(parts, arrows) {
  const ahead = arrows.filter((arrow) => !arrow.dead_letter);
  const reached = new Set(ahead.map((arrow) => arrow.to));
  const dead = new Set(arrows.map((arrow) => arrow.to).filter((id) => !reached.has(id)));
  const living = parts.filter((part) => !dead.has(part.id));
  const column = new Map();
  const start = (part) => [part.id, first[part.kind] ?? 2];
  let waiting = living.filter((part) => !reached.has(part.id)).map(start);
  while (column.size < living.length) {
    // Only a circle is left: it begins anywhere.
    if (waiting.length === 0) waiting = [start(living.find((part) => !column.has(part.id)))];
    const now = Math.min(...waiting.map(([, at]) => at));
    const next = waiting.filter(([, at]) => at > now);
    for (const [id, at] of waiting) {
      if (at > now || column.has(id)) continue;
      column.set(id, now);
      next.push(...ahead.filter((arrow) => arrow.from === id).map((arrow) => [arrow.to, now + 1]));
    }
    waiting = next.filter(([id]) => !column.has(id));
  }
  const last = Math.max(1, ...column.values());
  for (const id of dead) {
    const senders = arrows.filter((arrow) => arrow.to === id).map((arrow) => column.get(arrow.from) ?? 0);
    column.set(id, Math.min(last, 1 + Math.max(...senders)));
  }
  return column;
}

/** untangle puts parts at the height of what they have to do with: there and back, some times. */
function untangle(columns, arrows) {
  const near = new Map(columns.flat().map((id) => [id, []]));
  for (const {from, to} of arrows) {
    near.get(from).push(to);
    near.get(to).push(from);
  }
  const height = new Map();
  const measure = (ids) => ids.forEach((id, i) => height.set(id, (i + 0.5) / ids.length));
  columns.forEach(measure);
  for (let turn = 0; turn < 6; turn++) {
    for (const ids of turn % 2 === 0 ? columns : columns.toReversed()) {
      const wanted = new Map(ids.map((id) => [id, mean(near.get(id).filter((other) => !ids.includes(other))
        .map((other) => height.get(other))) ?? height.get(id)]));
      ids.sort((a, b) => wanted.get(a) - wanted.get(b));
      measure(ids);
    }
  }
}

const mean = (values) => (values.length > 0 ? values.reduce((sum, value) => sum + value, 0) / values.length : null);

/** endsOf says on which sides an arrow leaves and arrives: one along a column goes around it. */
const endsOf = (from, to) => ({from: to < from ? 'left' : 'right', to: to > from ? 'left' : 'right'});

/** boxesOf are the sizes of parts, each with space for its arrows. */
function boxesOf(parts, columns, arrows, ends, sizeOf) {
  const counts = new Map(parts.map((part) => [part.id, {left: 0, right: 0}]));
  arrows.forEach(({from, to}, i) => {
    counts.get(from)[ends[i].from]++;
    counts.get(to)[ends[i].to]++;
  });
  return new Map(parts.map((part) => {
    const {left, right} = counts.get(part.id);
    const {width, height} = sizeOf(part);
    return [part.id, {width, height: Math.max(height, perArrow * Math.max(left, right) + 4)}];
  }));
}

/** place puts columns beside each other, all in the middle. */
function place(columns, boxes) {
  const heights = columns.map((ids) => ids.reduce((sum, id) => sum + boxes.get(id).height + apart, -apart));
  let x = 0;
  columns.forEach((ids, i) => {
    const width = Math.max(...ids.map((id) => boxes.get(id).width));
    let y = (Math.max(...heights) - heights[i]) / 2;
    for (const id of ids) {
      Object.assign(boxes.get(id), {x, y, width});
      y += boxes.get(id).height + apart;
    }
    x += width + between;
  });
}

/** attach spreads the arrows of a side of a part, in the order of where they go. */
function attach(id, side, {arrows, ends, boxes, places}) {
  const box = boxes.get(id);
  const here = arrows.flatMap(({from, to}, i) => [
    from === id && ends[i].from === side && {i, end: 'from', other: boxes.get(to)},
    to === id && ends[i].to === side && {i, end: 'to', other: boxes.get(from)},
  ]).filter(Boolean).sort((a, b) => a.other.y + a.other.height / 2 - b.other.y - b.other.height / 2);
  here.forEach(({i, end}, at) => {
    const y = box.y + ((at + 0.5) * box.height) / here.length;
    places[i][end] = {x: side === 'left' ? box.x : box.x + box.width, y};
  });
}

/** lineOf is the curve of an arrow, its head, and where its figure stands. */
function lineOf({from, to}, ends) {
  const away = {left: -1, right: 1};
  const bend = ends.from === ends.to ? 46 : Math.max(40, Math.abs(to.x - from.x) / 2.2);
  const tip = to.x + 7 * away[ends.to];
  const round = (value) => Math.round(value * 10) / 10;
  const bends = [from.x + bend * away[ends.from], from.y, tip + bend * away[ends.to], to.y, tip, to.y];
  return {
    line: `M${round(from.x)},${round(from.y)} C${bends.map(round).join(' ')}`,
    head: `M${round(to.x)},${round(to.y)} l${7 * away[ends.to]},-4 v8 z`,
    label: {x: round(to.x + 10 * away[ends.to]), y: round(to.y - 3),
      'text-anchor': ends.to === 'left' ? 'end' : 'start'},
  };
}
