/** One page of a list, with the list's total. */
export interface Page {
	/** Maximum number of entries in a page. */
	readonly limit: number;
	readonly page: number;
	readonly total: number;
	readonly totalPages: number;
}

/** Returns the page's numbers as headers, for clients that read those. */
export function paginationHeaders({ limit, page, total, totalPages }: Page): Record<string, string> {
	return {
		"x-pagination-limit": String(limit),
		"x-pagination-page": String(page),
		"x-pagination-total": String(total),
		"x-pagination-total-pages": String(totalPages),
	};
}
