export function TaskDetail() {
  return <p>TaskDetail</p>
}
