// What the document says of the page: the settings of its stack, and the key of what it keeps on a device.

const {dataset} = document.documentElement;

export const settings = JSON.parse(dataset.settings);

export const key = dataset.key;

/** home is the address of the first view. */
export const home = dataset.home;

/** name is what the page is called. */
export const name = document.title;
