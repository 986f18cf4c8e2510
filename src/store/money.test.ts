import { BooksFolder } from "./testing/books-folder.ts";
import { testMoney } from "./testing/money-contract.ts";

testMoney(() => new BooksFolder());
