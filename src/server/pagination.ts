/** One page of a list that is counted. */
export interface Page {
	/** Entries a page has at most. */
	readonly limit: number;
	readonly page: number;
	readonly total: number;
	readonly totalPages: number;
}

/** The page again as headers, for clients that read those. */
export function paginationHeaders({ limit, page, total, totalPages }: Page): Record<string, string> {
	return {
		"x-pagination-limit": String(limit),
		"x-pagination-page": String(page),
		"x-pagination-total": String(total),
		"x-pagination-total-pages": String(totalPages),
	};
}
