/// The result of checking the association file of a host for an app.
public enum AssociationVerdict: Sendable, Hashable {
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
    public var isGood: Bool { self == .namesTheApp }

    /// The finding and its remedy, for the developer of the app.
    public var text: LocalizedText {
        switch self {
        case .namesTheApp: LocalizedText(AssociationPhrase.namesTheApp)
        case .namesNoPaths: LocalizedText(AssociationPhrase.namesNoPaths)
        case .namesNoLinks: LocalizedText(AssociationPhrase.namesNoLinks)
        case .namesOtherCertificates: LocalizedText(AssociationPhrase.namesOtherCertificates)
        case .namesOtherApps: LocalizedText(AssociationPhrase.namesOtherApps)
        case .notAnAssociationFile: LocalizedText(AssociationPhrase.notAnAssociationFile)
        case .notJSON: LocalizedText(AssociationPhrase.notJSON)
        case .otherContentType: LocalizedText(AssociationPhrase.otherContentType)
        case .redirects: LocalizedText(AssociationPhrase.redirects)
        case .notFound: LocalizedText(AssociationPhrase.notFound)
        case .otherStatus(let status): LocalizedText(AssociationPhrase.otherStatus, ["status": .number(status)])
        case .notFetched(let failure): failure.text
        }
    }
}

extension AssociationFetch.Failure {
    fileprivate var text: LocalizedText {
        switch self {
        case .unsuitableURL: LocalizedText(AssociationPhrase.unsuitableURL)
        case .unknownHost: LocalizedText(AssociationPhrase.unknownHost)
        case .notPublic: LocalizedText(AssociationPhrase.notPublic)
        case .unreachable: LocalizedText(AssociationPhrase.unreachable)
        case .untrusted: LocalizedText(AssociationPhrase.untrusted)
        case .timedOut: LocalizedText(AssociationPhrase.timedOut)
        case .tooLarge: LocalizedText(AssociationPhrase.tooLarge, ["limit": .number(AssociationCheck.byteLimit / 1024)])
        case .busy: LocalizedText(AssociationPhrase.busy)
        }
    }
}

/// The messages about association files.
enum AssociationPhrase: String, LocalizationKey {
    case namesTheApp = "association.names-the-app"
    case namesNoPaths = "association.names-no-paths"
    case namesNoLinks = "association.names-no-links"
    case namesOtherCertificates = "association.names-other-certificates"
    case namesOtherApps = "association.names-other-apps"
    case notAnAssociationFile = "association.not-an-association-file"
    case notJSON = "association.not-json"
    case otherContentType = "association.other-content-type"
    case redirects = "association.redirects"
    case notFound = "association.not-found"
    case otherStatus = "association.other-status"
    case unsuitableURL = "association.unsuitable-url"
    case unknownHost = "association.unknown-host"
    case notPublic = "association.not-public"
    case unreachable = "association.unreachable"
    case untrusted = "association.untrusted"
    case timedOut = "association.timed-out"
    case tooLarge = "association.too-large"
    case busy = "association.busy"
}
