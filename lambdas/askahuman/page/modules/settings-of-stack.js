// What the stack lets the page offer: {firebase?, reports?, points?}.
export const settings = JSON.parse(document.documentElement.dataset.settings);
