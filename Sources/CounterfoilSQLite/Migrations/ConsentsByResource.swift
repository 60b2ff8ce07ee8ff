import GRDB

extension Migration {
    /// The remembered consents of users, by API.
    static let consentsByResource = Migration { database in
        try database.execute(
            sql: """
                ALTER TABLE consents ADD COLUMN remembered_at TEXT NOT NULL DEFAULT '';
                -- Until now nobody noted at which API something was allowed, so whoever named one asks again.
                UPDATE consents SET remembered = '' WHERE EXISTS (
                    SELECT 1 FROM grants
                    WHERE grants.person_id = consents.person_id AND grants.client_id = consents.client_id
                        AND grants.resources <> ''
                );
                """
        )
    }
}
