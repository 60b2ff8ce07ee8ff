/// The result of checking the association file of a host for an app.
package enum AssociationVerdict: Localized, Hashable {
    /// The file names the app.
    case namesTheApp
    /// The file names the app, but no paths for it.
    case namesNoPaths
    /// The file names the app, but not with the relation for opening links.
    case namesNoLinks
    /// The file names the app with other certificates.
    case namesOtherCertificates
    /// The file does not name the app.
    case namesOtherApps
    /// The file is JSON of another shape.
    case notAnAssociationFile
    /// The file is not JSON.
    case notJSON
    /// The file is not served as `application/json`.
    case otherContentType
    /// The host redirects, and the systems do not follow redirects.
    case redirects
    /// There is no such file.
    case notFound
    /// The host responded with another status.
    case otherStatus(Int)
    /// The file could not be fetched.
    case notFetched(AssociationFetch.Failure)

    /// Whether the systems will open the app.
    package var isGood: Bool { self == .namesTheApp }

    /// The finding and its remedy, for the developer of the app.
    package var text: LocalizedText {
        switch self {
        case .namesTheApp: LocalizedText("association.names-the-app")
        case .namesNoPaths: LocalizedText("association.names-no-paths")
        case .namesNoLinks: LocalizedText("association.names-no-links")
        case .namesOtherCertificates: LocalizedText("association.names-other-certificates")
        case .namesOtherApps: LocalizedText("association.names-other-apps")
        case .notAnAssociationFile: LocalizedText("association.not-an-association-file")
        case .notJSON: LocalizedText("association.not-json")
        case .otherContentType: LocalizedText("association.other-content-type")
        case .redirects: LocalizedText("association.redirects")
        case .notFound: LocalizedText("association.not-found")
        case .otherStatus(let status): LocalizedText("association.other-status", ["status": .number(status)])
        case .notFetched(let failure): failure.text
        }
    }
}
