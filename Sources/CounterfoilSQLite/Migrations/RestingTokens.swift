import GRDB

extension Migration {
    /// An index of refresh tokens by the time of their last use, which a refresh seldom has to update.
    static let restingTokens = Migration { database in
        try database.execute(
            sql: """
                DROP INDEX refresh_tokens_last_used;
                -- Never after last_used_at, and at most an hour before it.
                ALTER TABLE refresh_tokens ADD COLUMN resting_since INTEGER NOT NULL DEFAULT 0;
                UPDATE refresh_tokens SET resting_since = last_used_at;
                CREATE INDEX refresh_tokens_resting ON refresh_tokens (resting_since);
                """
        )
    }
}
