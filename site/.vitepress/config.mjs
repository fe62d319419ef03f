// The site of the documents. The pages of docs are its one source, and stay Markdown as GitHub shows it: what VitePress
// or Vue would take for its own is text here.
import fs from 'node:fs'
import path from 'node:path'

const repository = 'https://github.com/onesynth-cdk/onesynth'
const root = path.resolve(import.meta.dirname, '../..')
const docs = path.join(root, 'docs')
const folders = ['guide', 'platforms', 'operate', 'reference', 'project']
const home = ['index.md', 'README.md', 'guide/start.md'].find(page => fs.existsSync(path.join(docs, page)))
const icon = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8">' +
  '<circle cx="4" cy="4" r="2.8" fill="none" stroke="#5672cd" stroke-width="2"/></svg>'

const capitalised = name => name[0].toUpperCase() + name.slice(1).replaceAll('-', ' ')

// sidebar returns the entries of a folder below docs: its pages with their first headings as titles, in the order of
// README.md and then of the alphabet, and its folders.
const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8')
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
      pages.push({ text: title.replaceAll('`', ''), link: link(file), order: named < 0 ? readme.length : named })
    }
  }
  pages.sort((a, b) => a.order - b.order || a.text.localeCompare(b.text, 'en'))
  return [...pages, ...groups]
}

// link returns the address of a page on the site.
function link(page) {
  return page === home ? '/' : `/${page}`
}

// target returns where a link of a page leads on the site: to a page of it, or to the file on GitHub.
function target(href, page) {
  if (/^([a-z][a-z+.-]*:|[/#])/i.test(href)) return href
  const [, name, anchor] = href.match(/^([^#]*)(.*)$/)
  const file = path.join(docs, path.dirname(page), decodeURI(name))
  const below = path.relative(docs, file)
  if (!below.startsWith('..') && below.endsWith('.md')) return link(below) + anchor
  if (!fs.existsSync(file)) throw new Error(`docs/${page}: dead link ${href}`)
  return `${repository}/${fs.statSync(file).isDirectory() ? 'tree' : 'blob'}/main/${path.relative(root, file)}${anchor}`
}

// Of HTML, pages have these elements and comments. Anything else in angle brackets is text, such as <name>.
const elements = ['br', 'details', 'img', 'kbd', 'p', 'picture', 'source', 'sub', 'summary', 'sup']

function markdown(md) {
  md.core.ruler.disable('emoji')
  // The switch between light and dark also switches pictures.
  md.core.ruler.before('normalize', 'pictures', state => {
    state.src = state.src.replace(
      /<picture><source media="[^"]*dark\)" srcset="(.+?)"><img ([^>]*)src="(.+?)"([^>]*)><\/picture>/g,
      '<img class="light" $2src="$3"$4><img class="dark" $2src="$1"$4>')
  })
  md.core.ruler.push('links', ({ tokens, env }) => {
    for (const token of tokens.flatMap(({ children }) => children ?? [])) {
      if (token.type === 'link_open') {
        token.attrSet('href', target(token.attrGet('href'), path.relative(docs, env.realPath ?? env.path)))
      }
    }
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

export default {
  title: 'Onesynth',
  description: 'A Go library of AWS CDK constructs: whole platforms on DynamoDB, and a local run of them',
  lang: 'en-GB',
  // GitHub Pages serves the site below the name of the repository.
  base: `${process.env.SITE_BASE ?? ''}/`,
  srcDir: '../docs',
  outDir: '../bin/site',
  cacheDir: '../bin/site-cache',
  // Addresses of a run.
  ignoreDeadLinks: 'localhostLinks',
  rewrites: { [home]: 'index.md' },
  head: [
    ['link', { rel: 'icon', href: `data:image/svg+xml,${encodeURIComponent(icon)}` }],
    ['style', {}, 'html.dark img.light, html:not(.dark) img.dark { display: none }'],
  ],
  markdown: {
    attrs: { disable: true },
    // Anchors are those of GitHub.
    anchor: { slugify: text => text.toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-') },
    config: markdown,
  },
  // The index of the search is one chunk.
  vite: { plugins: [vue], build: { chunkSizeWarningLimit: 4096 } },
  themeConfig: {
    sidebar: folders.map(folder => ({ text: capitalised(folder), items: sidebar(folder) })),
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/blob/main/docs/:path`, text: 'This page on GitHub' },
  },
}
