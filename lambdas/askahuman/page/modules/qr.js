// QR codes (ISO/IEC 18004) of short texts: bytes, error correction of level L, versions 1 to 10.

// By version: all codewords, those that correct errors in each block, the blocks, and where alignment patterns stand.
const versions = [
  [26, 7, 1, []], [44, 10, 1, [6, 18]], [70, 15, 1, [6, 22]], [100, 20, 1, [6, 26]], [134, 26, 1, [6, 30]],
  [172, 18, 2, [6, 34]], [196, 20, 2, [6, 22, 38]], [242, 24, 2, [6, 24, 42]], [292, 30, 2, [6, 26, 46]],
  [346, 18, 4, [6, 28, 50]],
];

/**
 * qr returns the modules of the code as rows of booleans, true for dark. It throws a RangeError for a text over 271
 * bytes.
 */
export function qr(text) {
  const bytes = new TextEncoder().encode(text);
  const at = versions.findIndex(([all, correcting, blocks], n) =>
    bytes.length + (n < 9 ? 2 : 3) <= all - correcting * blocks);
  if (at < 0) throw new RangeError(`a code has room for 271 bytes, got ${bytes.length}`);
  const [all, correcting, blocks, alignment] = versions[at];
  return drawn(at + 1, interleaved(dataOf(bytes, at + 1, all - correcting * blocks), blocks, correcting), alignment);
}

/** dataOf returns the codewords of the text: mode, length, bytes, an end, and the padding of the standard. */
function dataOf(bytes, version, length) {
  const bits = [];
  const push = (value, n) => { for (let i = n - 1; i >= 0; i--) bits.push(value >> i & 1); };
  push(0b0100, 4);
  push(bytes.length, version < 10 ? 8 : 16);
  for (const byte of bytes) push(byte, 8);
  push(0, Math.min(4, length * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = [];
  for (let i = 0; i < bits.length; i += 8) data.push(bits.slice(i, i + 8).reduce((sum, bit) => sum * 2 + bit, 0));
  for (let pad = 0xec; data.length < length; pad ^= 0xec ^ 0x11) data.push(pad);
  return data;
}

/**
 * interleaved returns the codewords in the order in which they are drawn. Later blocks may have a data codeword more.
 */
function interleaved(data, blocks, correcting) {
  const short = Math.floor(data.length / blocks);
  const longer = data.length % blocks;
  const parts = [];
  for (let n = 0, from = 0; n < blocks; n++) {
    const length = short + (n >= blocks - longer ? 1 : 0);
    parts.push(data.slice(from, from += length));
  }
  const corrections = parts.map((part) => correctionOf(part, correcting));
  const columns = (rows, length) => Array.from({length}, (_, i) =>
    rows.map((row) => row[i]).filter((one) => one !== undefined)).flat();
  return [...columns(parts, short + 1), ...columns(corrections, correcting)];
}

// Arithmetic of GF(256) with the polynomial 0x11d.
function times(a, b) {
  let product = 0;
  for (; b; b >>= 1) {
    if (b & 1) product ^= a;
    a = a << 1 ^ (a & 0x80 ? 0x11d : 0);
  }
  return product;
}

/** correctionOf returns the remainder of the data by the generator of Reed and Solomon. */
function correctionOf(data, length) {
  let generator = [1];
  for (let i = 0, root = 1; i < length; i++, root = times(root, 2)) {
    generator = [...generator, 0].map((one, at) => one ^ times(generator[at - 1] ?? 0, root));
  }
  const rest = [...data, ...Array(length).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const factor = rest[i];
    generator.forEach((one, at) => { rest[i + at] ^= times(one, factor); });
  }
  return rest.slice(data.length);
}

/** remainder is that of a value by a polynomial of BCH, as format and version have it. */
function remainder(value, polynomial, bits) {
  let rest = value << bits;
  for (let i = 31 - Math.clz32(rest); i >= bits; i--) if (rest >> i & 1) rest ^= polynomial << i - bits;
  return value << bits | rest;
}

function drawn(version, codewords, alignment) {
  const size = 17 + 4 * version;
  const rows = Array.from({length: size}, () => Array(size).fill(null));
  const set = (x, y, dark) => { if (x >= 0 && y >= 0 && x < size && y < size) rows[y][x] = Boolean(dark); };
  // A square around a middle, dark or not by the distance from it.
  const square = (x, y, reach, dark) => {
    for (let dx = -reach; dx <= reach; dx++) {
      for (let dy = -reach; dy <= reach; dy++) set(x + dx, y + dy, dark(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  };
  for (let i = 8; i < size - 8; i++) {
    set(6, i, i % 2 === 0);
    set(i, 6, i % 2 === 0);
  }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
    square(x, y, 4, (distance) => distance !== 2 && distance !== 4);
  }
  const corners = [6, size - 7];
  for (const x of alignment) {
    for (const y of alignment) {
      const atFinder = corners.includes(x) && corners.includes(y) && (x === 6 || y === 6);
      if (!atFinder) square(x, y, 2, (distance) => distance !== 1);
    }
  }
  // The format says level L and mask 0. Readers take any mask.
  const format = remainder(0b01000, 0x537, 10) ^ 0x5412;
  for (let i = 0; i < 15; i++) {
    const bit = format >> i & 1;
    const along = i < 6 ? i : i < 8 ? i + 1 : size - 15 + i;
    set(8, along, bit);
    set(i < 8 ? size - 1 - i : i < 9 ? 7 : 14 - i, 8, bit);
  }
  set(8, size - 8, true);
  if (version >= 7) {
    const bits = remainder(version, 0x1f25, 12);
    for (let i = 0; i < 18; i++) {
      const [a, b] = [size - 11 + i % 3, Math.floor(i / 3)];
      set(a, b, bits >> i & 1);
      set(b, a, bits >> i & 1);
    }
  }
  // Codewords go up and down in columns of two, from the right, but for the column of the timing pattern.
  let bit = 0;
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right--;
    for (let n = 0; n < size; n++) {
      const y = up ? size - 1 - n : n;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== null) continue;
        const dark = codewords[bit >> 3] >> 7 - (bit & 7) & 1;
        rows[y][x] = Boolean(dark ^ (x + y + 1) % 2);
        bit++;
      }
    }
  }
  return rows;
}

const svg = 'http://www.w3.org/2000/svg';

/** picture is the code of a text as an image with a name. */
export function picture(text, name) {
  const rows = qr(text);
  const size = rows.length + 8;
  const image = document.createElementNS(svg, 'svg');
  const path = document.createElementNS(svg, 'path');
  const attributes = {class: 'code', viewBox: `0 0 ${size} ${size}`, role: 'img', 'aria-label': name};
  for (const [key, value] of Object.entries(attributes)) image.setAttribute(key, value);
  path.setAttribute('d', rows.flatMap((row, y) => row.map((dark, x) =>
    dark ? `M${x + 4} ${y + 4}h1v1h-1z` : '')).join(''));
  image.append(path);
  return image;
}
