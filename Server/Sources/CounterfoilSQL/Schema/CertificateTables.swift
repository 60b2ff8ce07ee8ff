extension StoreSchema {
    /// The tables of the certificate that the server orders from an authority.
    static let certificateOrders = """
        -- The key of the account at each authority, encrypted with the server key.
        CREATE TABLE authority_accounts (
            authority TEXT COLLATE BINARY NOT NULL PRIMARY KEY,
            sealed BLOB NOT NULL
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE issued_certificate (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            chain TEXT NOT NULL,
            -- The key, encrypted with the server key.
            sealed BLOB NOT NULL,
            authority TEXT NOT NULL,
            stored_at INTEGER NOT NULL,
            is_renewal_requested INTEGER NOT NULL DEFAULT 0 CHECK (is_renewal_requested IN (0, 1))
        ) STRICT;

        -- The challenges that an authority is about to validate.
        CREATE TABLE authority_challenges (
            type TEXT COLLATE BINARY NOT NULL,
            host TEXT COLLATE BINARY NOT NULL,
            token TEXT COLLATE BINARY NOT NULL,
            key_authorization TEXT NOT NULL,
            expires_at INTEGER NOT NULL,
            -- The server that has stored it.
            holder BLOB NOT NULL CHECK (length(holder) = 16),
            PRIMARY KEY (type, host, token)
        ) STRICT, WITHOUT ROWID;

        -- The orders that have failed in a row, for each digest of their settings.
        CREATE TABLE failed_orders (
            settings BLOB NOT NULL PRIMARY KEY CHECK (length(settings) = 32),
            authority TEXT NOT NULL,
            count INTEGER NOT NULL,
            failed_at INTEGER NOT NULL,
            retry_at INTEGER NOT NULL,
            is_imposed INTEGER NOT NULL CHECK (is_imposed IN (0, 1))
        ) STRICT;

        -- The server that orders a certificate, until its lease ends.
        CREATE TABLE order_lease (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            holder BLOB NOT NULL CHECK (length(holder) = 16),
            expires_at INTEGER NOT NULL
        ) STRICT;
        """
}
