import CounterfoilProtocol
import CounterfoilStore
import Logging

/// The details of a logout request with a `post_logout_redirect_uri` to which the server does not redirect, for the
/// developer of the client.
///
/// The user is signed out nevertheless (OpenID Connect RP-Initiated Logout §3). The page and the log line contain the
/// same details. Anyone can send such a request, so both show what was received only as ``EscapedText``.
struct RefusedLogoutDetails: Sendable {
    private let uri: EscapedText
    private let length: Int
    /// The client of the request; nil if the request identifies none.
    private let client: RegisteredClient?

    /// The advice on what to change, and where.
    private enum Advice: String, LocalizationKey {
        case redirectURI = "problem.developer.post-logout-redirect-uri"
        case unknownClient = "problem.developer.logout-without-client"
    }

    init(_ uri: String, of client: RegisteredClient?) {
        self.uri = EscapedText(uri)
        length = uri.utf8.count
        self.client = client
    }

    /// The fields of the log line: `post_logout_redirect_uri` and `client_id`.
    var metadata: Logger.Metadata {
        var metadata: Logger.Metadata = ["post_logout_redirect_uri": "\(uri)"]
        if let client { metadata["client_id"] = "\(EscapedText(client.id.rawValue))" }
        return metadata
    }

    /// Creates the section of the page.
    func section(in words: Localizer, issuer: Issuer, pages: LinkedPages) -> ProblemPage.DeveloperSection {
        let cut = LocalizedText("problem.developer.cut", ["length": .number(length)])
        return ProblemPage.DeveloperSection(
            clientID: client.map { EscapedText($0.id.rawValue).description }, redirectURI: uri.description,
            cut: uri.isCut ? words(cut) : nil,
            advice: words(client == nil ? Advice.unknownClient : Advice.redirectURI),
            settings: client.flatMap { client in
                client.isUnregistered ? nil : issuer.path + pages.clientSettings.path(of: client.id)
            })
    }
}
