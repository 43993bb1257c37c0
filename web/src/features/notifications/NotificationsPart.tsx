/** The setting for desktop notifications. */
import { Segmented } from '../../ui/form/Segmented.tsx'
import { texts, useDesktopNotifications } from './useDesktopNotifications.ts'

const options = [
  { value: 'off', label: texts.off },
  { value: 'on', label: texts.on },
] as const

export function NotificationsPart() {
  const { desktop, turnOn, turnOff } = useDesktopNotifications()
  const why = desktop === 'denied' || desktop === 'unsupported' ? texts[desktop] : texts.why
  return (
    <section className="mt-8">
      <h2 className="mb-1 font-semibold">{texts.title}</h2>
      <p className="mb-3 max-w-[72ch] text-ui text-muted">{why}</p>
      {desktop !== 'denied' && desktop !== 'unsupported' && (
        <Segmented
          label={texts.label}
          options={options}
          chosen={desktop === 'on' ? 'on' : 'off'}
          onChoose={(value) => (value === 'on' ? turnOn() : turnOff())}
          className="w-full md:w-auto"
        />
      )}
    </section>
  )
}
