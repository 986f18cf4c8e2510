import { BooksFolder } from "./testing/books-folder.ts";
import { testChainStakes } from "./testing/chain-stakes-contract.ts";

testChainStakes(() => new BooksFolder());
