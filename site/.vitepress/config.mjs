// The site of the documents. The pages of docs and the first half of README.md are its one source, and stay Markdown as
// GitHub shows it: what VitePress or Vue would take for its own is text here.
import fs from 'node:fs'
import path from 'node:path'

const repository = 'https://github.com/onesynth-cdk/onesynth'
const root = path.resolve(import.meta.dirname, '../..')
const docs = path.join(root, 'docs')
const folders = ['guide', 'platforms', 'operate', 'reference', 'project']
const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">' +
  '<circle cx="4" cy="4" r="2.8" fill="none" stroke="#5672cd" stroke-width="2"/></svg>'

const capitalised = name => name[0].toUpperCase() + name.slice(1).replaceAll('-', ' ')

// sidebar returns the entries of a folder below docs: its pages with their first headings as titles, in the order of
// README.md and then of the alphabet, and its folders.
const home = path.join(root, 'README.md')
const readme = fs.readFileSync(home, 'utf8')
function sidebar(folder) {
  const pages = [], groups = []
  for (const entry of fs.readdirSync(path.join(docs, folder), { withFileTypes: true })) {
    const file = `${folder}/${entry.name}`
    if (entry.isDirectory()) {
      const items = sidebar(file)
      if (items.length) groups.push({ text: capitalised(entry.name), collapsed: true, items })
    } else if (file.endsWith('.md')) {
      const [, title] = fs.readFileSync(path.join(docs, file), 'utf8').match(/^# (.+)$/m) ?? [, file]
      const named = readme.indexOf(`docs/${file}`)
      pages.push({ text: title.replaceAll('`', ''), link: `/${file}`, order: named < 0 ? readme.length : named })
    }
  }
  pages.sort((a, b) => a.order - b.order || a.text.localeCompare(b.text, 'en'))
  return [...pages, ...groups]
}

// The first screen ends where README.md compares, and names what the menu has.
const half = readme.search(/^## How it compares$/m)
if (half < 0) throw new Error('README.md: no heading "How it compares", before which the first screen ends')

// target returns where a link of a page leads on the site: to a page of it, or to the file on GitHub.
function target(href, page) {
  if (/^([a-z][a-z+.-]*:|[/#])/i.test(href)) return href
  const [, name, anchor] = href.match(/^([^#]*)(.*)$/)
  const file = path.join(path.dirname(page), decodeURI(name))
  const below = path.relative(docs, file)
  if (!below.startsWith('..') && below.endsWith('.md')) return `/${below}${anchor}`
  if (!fs.existsSync(file)) throw new Error(`${page}: dead link ${href}`)
  return `${repository}/${fs.statSync(file).isDirectory() ? 'tree' : 'blob'}/main/${path.relative(root, file)}${anchor}`
}

// Of HTML, pages have these elements and comments. Anything else in angle brackets is text, such as <name>.
const elements = ['br', 'details', 'img', 'kbd', 'p', 'picture', 'source', 'sub', 'summary', 'sup']

function markdown(md) {
  md.core.ruler.disable('emoji')
  // The switch between light and dark also switches pictures.
  md.core.ruler.before('normalize', 'pictures', state => {
    if ((state.env.realPath ?? state.env.path) === home) state.src = state.src.slice(0, half)
    state.src = state.src.replace(
      /<picture><source media="[^"]*dark\)" srcset="(.+?)"><img ([^>]*)src="(.+?)"([^>]*)><\/picture>/g,
      '<img class="light" $2src="$3"$4><img class="dark" $2src="$1"$4>')
  })
  md.core.ruler.push('links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') {
        token.attrSet('href', target(token.attrGet('href'), env.realPath ?? env.path))
      }
    }
    // A corner of a table is no heading.
    tokens.forEach((token, i) => {
      if (token.type === 'th_open' && tokens[i + 1].content === '') token.tag = tokens[i + 2].tag = 'td'
    })
  })
  // Indented code also scrolls.
  md.renderer.rules.code_block = md.renderer.rules.fence
  md.renderer.rules.html_inline = md.renderer.rules.html_block = (tokens, index) =>
    tokens[index].content.replace(/<!--[^]*?-->|<\/?([\w-]+)[^>]*>?/g, (tag, name) =>
      name && !elements.includes(name) ? md.utils.escapeHtml(tag) : tag.replace(/( src=")(?![a-z]+:|[./])/g, '$1./'))
  const render = md.render
  md.render = (source, env) => `<div v-pre>${render.call(md, source, env)}</div>`
}

// Pages need Vue, which is installed beside this folder, not beside docs. Where they are rendered, Node.js finds it.
const vue = {
  name: 'vue-of-pages',
  enforce: 'pre',
  resolveId: (id, _, { ssr }) => ssr && ['vue', 'vue/server-renderer'].includes(id) ? { id, external: true } : null,
}

// Beside pictures, this mends what axe finds in the theme: the contrast of the languages of code, and the arrow of a
// folder in the menu, which is a button within a button. The folder draws its own.
const style = `
.vp-doc img[height] { display: inline; height: 14.5rem; width: auto; margin-inline-end: .4rem }
html.dark .vp-doc img.light, html:not(.dark) .vp-doc img.dark { display: none }
html:root { --vp-code-lang-color: var(--vp-c-text-2) }
.VPSidebarItem.collapsible > .item > .caret, .DocSearch-Button .DocSearch-Button-Keys { display: none }
.VPSidebarItem.collapsible > .item::after { content: "\u203a" / ""; color: var(--vp-c-text-2); rotate: 90deg }
.VPSidebarItem.collapsed > .item::after { rotate: none }
`

export default {
  title: 'Onesynth',
  description: 'A Go library of AWS CDK constructs: whole platforms on DynamoDB, and a local run of them',
  lang: 'en-GB',
  // GitHub Pages serves the site below the name of the repository.
  base: `${process.env.SITE_BASE ?? ''}/`,
  srcDir: '..',
  srcExclude: ['!(docs)/**/*.md', '!(README).md'],
  outDir: '../bin/site',
  cacheDir: '../bin/site-cache',
  // Addresses of a run.
  ignoreDeadLinks: 'localhostLinks',
  rewrites: { 'README.md': 'index.md', 'docs/:page(.*)': ':page' },
  head: [
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
    ['style', {}, style],
  ],
  markdown: {
    attrs: { disable: true },
    // The default themes have too little contrast for their keywords and comments.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Anchors are those of GitHub.
    anchor: { slugify: text => text.toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-') },
    config: markdown,
  },
  // The index of the search is one chunk.
  vite: { plugins: [vue], build: { chunkSizeWarningLimit: 4096 } },
  themeConfig: {
    sidebar: folders.map(folder => ({ text: capitalised(folder), items: sidebar(folder) })),
    outline: [2, 3],
    // The name of the button is what it shows, with a key that opens the search.
    search: { provider: 'local', options: { translations: {
      button: { buttonText: 'Search (/)', buttonAriaLabel: 'Search (/)' },
    } } },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/blob/main/:path`, text: 'This page on GitHub' },
  },
}
