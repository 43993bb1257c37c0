/** The dots beside languages: the only free colours of the product (GitHub's own, from linguist). */
const colours: Readonly<Record<string, string>> = {
  TypeScript: '#3178c6',
  JavaScript: '#f1e05a',
  Python: '#3572a5',
  Java: '#b07219',
  Go: '#00add8',
  Rust: '#dea584',
  Ruby: '#701516',
  PHP: '#4f5d95',
  'C#': '#178600',
  'C++': '#f34b7d',
  Kotlin: '#a97bff',
  Shell: '#89e051',
}

/** The colour of a language; the muted one for those without. */
export function languageColour(language: string): string {
  return Object.hasOwn(colours, language) ? (colours[language] ?? 'var(--muted)') : 'var(--muted)'
}
