/** A line of a chart, or its bars of one colour. */
export interface ChartSeries {
	readonly label: string;
	/** null for an unknown value. */
	readonly values: readonly (number | null)[];
	/** A colour of the design tokens, 1 to 8. */
	readonly colour: number;
}
