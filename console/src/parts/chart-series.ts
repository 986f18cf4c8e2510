/** A line, or the bars of one colour, of a chart. */
export interface ChartSeries {
	readonly label: string;
	/** null where nothing is known. */
	readonly values: readonly (number | null)[];
	/** 1 to 8: a colour of the tokens. */
	readonly colour: number;
}
