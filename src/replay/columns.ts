export { ascendingOrder, ValueTable } from '../store/columns.ts'
