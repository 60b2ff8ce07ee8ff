import CounterfoilProtocol
public import CounterfoilServer
import GRDB

extension SQLiteStore: BrandingStore {
    /// Reads the branding, which has its default values until it is changed.
    public func branding() async throws(StoreFault) -> Branding {
        try read { database in
            try database.branding() ?? Branding()
        }
    }

    /// Changes the branding if its stored revision still equals that of `branding`.
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await commits.commit { database in
            guard let stored = try database.branding(), stored.revision == branding.revision else {
                return .changedMeanwhile
            }
            try database.run(
                "UPDATE branding SET site_name = ?, logo = ?, accent = ?, support_uri = ?, revision = revision + 1",
                branding.siteName,
                try database.logo(after: logo, former: stored.logo)?.rawValue,
                branding.accent?.rawValue,
                branding.supportURI?.rawValue
            )
            if branding.statements != stored.statements { try database.keep(branding.statements) }
            try database.removeLogoIfUnused(stored.logo)
            return .updated
        }
    }
}

extension Database {
    fileprivate func branding() throws -> Branding? {
        // Every page reads the branding, so a single query reads it together with the statements of the service. The
        // query returns one row for each language that has a statement, or one row if no language has one.
        let rows = try all(
            """
            SELECT site_name, logo, accent, support_uri, revision, language, text, privacy_uri
            FROM branding LEFT JOIN site_statements ON true
            """, read: Branding.init(_:))
        guard var branding = rows.first else { return nil }
        for row in rows.dropFirst() { branding.statements.merge(row.statements) { first, _ in first } }
        return branding
    }

    fileprivate func keep(_ statements: [Language: SiteStatement]) throws {
        try run("DELETE FROM site_statements")
        for (language, statement) in statements where !statement.isEmpty {
            try run(
                "INSERT INTO site_statements (language, text, privacy_uri) VALUES (?, ?, ?)",
                language.rawValue,
                statement.text,
                statement.privacyURI?.rawValue
            )
        }
    }
}

extension Branding {
    fileprivate init(_ columns: inout Columns) throws {
        self.init(
            siteName: try columns.optionalText(),
            logo: try columns.optionalValue(LogoIdentifier.init(_:)),
            accent: try columns.optionalValue(AccentColor.init(_:)),
            supportURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) },
            revision: Int(try columns.integer())
        )
        guard let language = try columns.optionalValue(Language.init(rawValue:)) else { return }
        statements[language] = SiteStatement(
            text: try columns.optionalText(),
            privacyURI: try columns.optionalValue { try AbsoluteURI(parsing: $0) })
    }
}
