/** Thrown for a journal record that the books refuse: it goes to `rejected`, and the others continue. */
export class RecordFault extends Error {
	override readonly name = "RecordFault";
}
