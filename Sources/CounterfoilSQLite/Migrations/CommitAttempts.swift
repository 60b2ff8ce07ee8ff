import CounterfoilServer
import GRDB

extension Migration {
    /// Adds the marks of the attempts that redeemed a code, refreshed a token family or used a client assertion.
    ///
    /// A code that was redeemed before this step has no attempt, so a second redemption of it is a replay.
    static let commitAttempts = Migration { database in
        try database.execute(
            sql: """
                -- The attempt of a redemption, until it is known whether its tokens were sent.
                ALTER TABLE codes ADD COLUMN attempt BLOB CHECK (length(attempt) = 16);
                -- The time of the first other redemption while the attempt is stored.
                ALTER TABLE codes ADD COLUMN contested_at INTEGER;
                ALTER TABLE refresh_tokens ADD COLUMN last_attempt BLOB CHECK (length(last_attempt) = 16);
                ALTER TABLE assertions ADD COLUMN attempt BLOB CHECK (length(attempt) = 16);
                """)
    }
}
