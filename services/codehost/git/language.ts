/** Guesses the main language of a repository from the extensions and sizes of its files. */

const languages: Readonly<Record<string, string>> = {
  c: 'C',
  h: 'C',
  cc: 'C++',
  cpp: 'C++',
  cxx: 'C++',
  hpp: 'C++',
  cs: 'C#',
  css: 'CSS',
  scss: 'SCSS',
  dart: 'Dart',
  ex: 'Elixir',
  exs: 'Elixir',
  erl: 'Erlang',
  go: 'Go',
  hs: 'Haskell',
  html: 'HTML',
  java: 'Java',
  js: 'JavaScript',
  cjs: 'JavaScript',
  mjs: 'JavaScript',
  jsx: 'JavaScript',
  kt: 'Kotlin',
  kts: 'Kotlin',
  lua: 'Lua',
  m: 'Objective-C',
  ml: 'OCaml',
  php: 'PHP',
  pl: 'Perl',
  py: 'Python',
  r: 'R',
  rb: 'Ruby',
  rs: 'Rust',
  scala: 'Scala',
  sh: 'Shell',
  bash: 'Shell',
  svelte: 'Svelte',
  swift: 'Swift',
  ts: 'TypeScript',
  mts: 'TypeScript',
  cts: 'TypeScript',
  tsx: 'TypeScript',
  vue: 'Vue',
  zig: 'Zig',
}

const notOnesOwn = /(^|\/)(node_modules|vendor|third_party|dist|build|target)\//

/**
 * The language with the most bytes in `listing`, which is the output of git's `ls-tree -r -l -z`; `null` when no file has a known language. Files in
 * folders for dependencies and build results do not count.
 */
export function mainLanguage(listing: string): string | null {
  const sizes = new Map<string, number>()
  for (const entry of listing.split('\0')) {
    const [, size, path] = /^\d+ blob \S+ +(\d+)\t(.*)$/s.exec(entry) ?? []
    if (size === undefined || path === undefined || notOnesOwn.test(path)) continue
    const extension = /\.([^./]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
    const language = Object.hasOwn(languages, extension) ? languages[extension] : undefined
    if (language !== undefined) sizes.set(language, (sizes.get(language) ?? 0) + Number(size))
  }
  const [largest] = [...sizes].sort(([one, a], [other, b]) => b - a || one.localeCompare(other))
  return largest?.[0] ?? null
}
