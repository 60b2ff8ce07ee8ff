/// An error page that tells the user what to do.
///
/// Text from the request is only in ``developer``, which is collapsed.
package struct ProblemPage: Sendable, Hashable {
    /// The HTTP status of the response, which the page also shows.
    package var status: Int
    /// The problem in a few words, as the heading of the page: "This page has expired".
    package var title: String
    package var explanation: String
    /// The advice to the user on what to do next.
    package var advice: String
    /// The button that leads to another page of the service; nil for none.
    package var continueLink: ContinueLink?
    /// The details of the request for the developer of the client; nil for none.
    package var developer: DeveloperSection?

    /// A button that leads to another page.
    package struct ContinueLink: Sendable, Hashable {
        /// The URL to which the button leads.
        package var address: String
        /// The label of the button.
        package var title: String

        package init(address: String, title: String) {
            self.address = address
            self.title = title
        }
    }

    /// The collapsed section of an error page that tells the developer of a client what to correct.
    package struct DeveloperSection: Sendable, Hashable {
        /// `client_id` as received, escaped and cut; nil if the request has none.
        package var clientID: String?
        /// `redirect_uri` as received, escaped and cut; nil if the request has none or the client is unknown.
        package var redirectURI: String?
        /// The sentence that the shown redirect URI is only the beginning of the received one; nil if it is complete.
        package var cut: String?
        /// The registered redirect URI that is most similar to the received one; nil if there is none.
        package var registered: String?
        /// The differences between the two redirect URIs.
        package var differences: [String]
        /// The sentence on what to change, and where; nil if the reason of the error says it already.
        package var advice: String?
        /// The path of the page with the settings of the client; nil if the client is unknown.
        package var settings: String?

        package init(
            clientID: String? = nil, redirectURI: String? = nil, cut: String? = nil, registered: String? = nil,
            differences: [String] = [], advice: String? = nil, settings: String? = nil
        ) {
            self.clientID = clientID
            self.redirectURI = redirectURI
            self.cut = cut
            self.registered = registered
            self.differences = differences
            self.advice = advice
            self.settings = settings
        }
    }

    package init(
        status: Int, title: String, explanation: String, advice: String,
        continueLink: ContinueLink? = nil, developer: DeveloperSection? = nil
    ) {
        self.status = status
        self.title = title
        self.explanation = explanation
        self.advice = advice
        self.continueLink = continueLink
        self.developer = developer
    }
}

extension ProblemPage: Page { package static let template = "problem" }
