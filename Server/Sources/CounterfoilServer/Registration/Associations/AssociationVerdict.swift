/// The result of checking that the association file of a host names an app.
package enum AssociationVerdict: Localized, Hashable {
    /// The file names the app with everything that the systems require to open it.
    case namesTheApp
    /// The file for Apple's systems names the app but lists no paths for it.
    case namesNoPaths
    /// The file for Android names the app, but without the relation `delegate_permission/common.handle_all_urls`,
    /// which lets the app open links.
    case namesNoLinks
    /// The file for Android names the app's package, but only with fingerprints of other certificates.
    case namesOtherCertificates
    /// The file is valid but does not name the app.
    case namesOtherApps
    /// The file is valid JSON but does not have the structure of an association file.
    case notAnAssociationFile
    case notJSON
    /// The file is not served as `client/json`.
    case otherContentType
    /// The host responded with a redirect, which Apple's systems and Android do not follow.
    case redirects
    /// The host responded with status 404 or 410.
    case notFound
    /// The host responded with an unexpected status, given here.
    case otherStatus(Int)
    /// The file could not be fetched, for the given reason; no request is sent to a port other than 443.
    case notFetched(AssociationFetch.Failure)

    /// Whether Apple's systems or Android will open the app for the redirect URI.
    package var isGood: Bool { self == .namesTheApp }

    /// The result and its remedy, for the developer of the app.
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
