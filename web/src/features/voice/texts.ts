/** What voice recording says. */
export const texts = {
  start: 'Start voice recording',
  starting: 'Starting the microphone',
  stop: 'Stop voice recording',
  stopping: 'Stopping voice recording',
  recording: 'Recording',
  time: (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`,
  saved: 'Voice recording stopped. Your text has been saved.',
  noSpeech: 'No speech detected. Please try again.',
  noMicrophone: 'Microphone not accessible. Please check permissions.',
  denied: 'Microphone access denied. Please allow microphone permissions.',
  network: 'Network error occurred. Your text has been saved.',
  other: (code: string) => `Voice recognition error: ${code}`,
  unsupported:
    'Voice recognition is not supported in your browser. Please use Chrome, Safari, or Edge for the best experience.',
} as const

/** What is said of a recogniser's error. */
export function errorText(code: string): string {
  switch (code) {
    case 'no-speech':
      return texts.noSpeech
    case 'audio-capture':
      return texts.noMicrophone
    case 'not-allowed':
    case 'service-not-allowed':
      return texts.denied
    case 'network':
      return texts.network
    default:
      return texts.other(code)
  }
}
