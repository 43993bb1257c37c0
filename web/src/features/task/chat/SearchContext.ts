/** The words that are looked for in the chat, trimmed; `''` when none are. */
import { createContext } from 'react'

export const SearchContext = createContext('')
