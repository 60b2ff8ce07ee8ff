import CounterfoilProtocol
public import CounterfoilServer
import GRDB

extension SQLiteStore: BrandingStore {
    /// The branding; our own look while nobody has chosen one.
    public func branding() async throws(StoreFault) -> Branding {
        try read { database in
            try database.first(
                "SELECT site_name, logo, accent, support_uri, revision FROM branding",
                read: Branding.init(_:)
            ) ?? Branding()
        }
    }

    /// Changes the branding from the revision that it was read at.
    public func updateBranding(
        _ branding: Branding,
        logo: LogoChange
    ) async throws(StoreFault) -> UpdateBrandingOutcome {
        try await commits.commit { database in
            let stored = try database.first(
                "SELECT site_name, logo, accent, support_uri, revision FROM branding",
                read: Branding.init(_:)
            )
            guard let stored, stored.revision == branding.revision else { return .changedMeanwhile }
            try database.run(
                "UPDATE branding SET site_name = ?, logo = ?, accent = ?, support_uri = ?, revision = revision + 1",
                branding.siteName,
                try database.logo(after: logo, former: stored.logo)?.rawValue,
                branding.accent?.rawValue,
                branding.supportURI?.rawValue
            )
            try database.removeLogoIfUnused(stored.logo)
            return .updated
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
    }
}
