// What the stack lets the page offer: {firebase?, reports?}.
export const settings = JSON.parse(document.documentElement.dataset.settings);
