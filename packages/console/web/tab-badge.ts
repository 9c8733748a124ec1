const SIZE = 32

/** Shows in the tab how much waits: in its title, and as a number on its icon. */
export function showInTab(count: number): void {
  document.title = count === 0 ? 'agentproto' : `(${count}) agentproto`
  const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]')
  if (icon === null) return
  icon.dataset['plain'] ??= icon.href
  icon.href = (count === 0 ? undefined : numbered(count)) ?? icon.dataset['plain']
}

function numbered(count: number): string | undefined {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = SIZE
  const paper = canvas.getContext('2d')
  if (paper === null) return undefined
  paper.fillStyle = '#a4262c'
  paper.beginPath()
  paper.arc(SIZE / 2, SIZE / 2, SIZE / 2, 0, 2 * Math.PI)
  paper.fill()
  paper.fillStyle = '#fff'
  paper.font = `bold ${count > 9 ? 16 : 22}px sans-serif`
  paper.textAlign = 'center'
  paper.textBaseline = 'middle'
  paper.fillText(count > 99 ? '99+' : String(count), SIZE / 2, SIZE / 2 + 1)
  return canvas.toDataURL('image/png')
}
