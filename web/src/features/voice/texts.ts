export const texts = {
  start: 'Start voice recording',
  starting: 'Starting the microphone',
  stop: 'Stop voice recording',
  stopping: 'Stopping voice recording',
  recording: 'Recording',
  time: (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`,
  saved: 'Voice recording stopped. Your text has been saved.',
  unsupported:
    'Voice recognition is not supported in your browser. Please use Chrome, Safari, or Edge for the best experience.',
} as const

const denied = 'Microphone access denied. Please allow microphone permissions.'
const errors: ReadonlyMap<string, string> = new Map([
  ['no-speech', 'No speech detected. Please try again.'],
  ['audio-capture', 'Microphone not accessible. Please check permissions.'],
  ['not-allowed', denied],
  ['service-not-allowed', denied],
  ['network', 'Network error occurred. Your text has been saved.'],
])

/** The message for an error of the recogniser. */
export function errorText(code: string): string {
  return errors.get(code) ?? `Voice recognition error: ${code}`
}
