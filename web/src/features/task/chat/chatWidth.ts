/** The readable maximum width of the chat and its composer, centered in a wider pane. */
export const chatWidth = 'mx-auto max-w-220'
