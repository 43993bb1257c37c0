/** The chat and its box are as wide as they can be read, in the middle of a wider pane. */
export const chatWidth = 'mx-auto max-w-220'
