/** A hash, address or id: truncated to fit, complete in its title and when selected. */
export function Hash({ value, none = "none" }: { readonly value: string | null; readonly none?: string }) {
	if (value === null) return <span className="quiet">{none}</span>;
	return (
		<span className="hash" title={value}>
			{value}
		</span>
	);
}
