import { testMoney } from "../testing/money-contract.ts";
import { StoreFolder } from "../testing/store-folder.ts";

testMoney(() => new StoreFolder());
