extension Tables {
    /// The tables of the certificate that the servers order from an authority.
    static let certificateOrders = """
        -- The key of the account at each authority, encrypted with the server key.
        CREATE TABLE authority_accounts (
            authority text COLLATE "C" NOT NULL PRIMARY KEY,
            sealed bytea NOT NULL
        )

        CREATE TABLE issued_certificate (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            chain text NOT NULL,
            -- The key, encrypted with the server key.
            sealed bytea NOT NULL,
            authority text NOT NULL,
            stored_at bigint NOT NULL,
            is_renewal_requested bigint NOT NULL DEFAULT 0 CHECK (is_renewal_requested IN (0, 1))
        )

        -- The challenges that an authority is about to validate.
        CREATE TABLE authority_challenges (
            type text COLLATE "C" NOT NULL,
            host text COLLATE "C" NOT NULL,
            token text COLLATE "C" NOT NULL,
            key_authorization text NOT NULL,
            expires_at bigint NOT NULL,
            -- The server that has stored it.
            holder bytea NOT NULL CHECK (length(holder) = 16),
            PRIMARY KEY (type, host, token)
        )

        -- The orders that have failed in a row, for each digest of their settings.
        CREATE TABLE failed_orders (
            settings bytea NOT NULL PRIMARY KEY CHECK (length(settings) = 32),
            authority text NOT NULL,
            count bigint NOT NULL,
            failed_at bigint NOT NULL,
            retry_at bigint NOT NULL,
            is_imposed bigint NOT NULL CHECK (is_imposed IN (0, 1))
        )

        -- The server that orders a certificate, until its lease ends.
        CREATE TABLE order_lease (
            id bigint NOT NULL PRIMARY KEY CHECK (id = 1),
            holder bytea NOT NULL CHECK (length(holder) = 16),
            expires_at bigint NOT NULL
        )
        """
}
