import CounterfoilServer

/// What a template can name: the page itself, and what a template without logic cannot work out from it.
struct PageContext {
    /// The address of the stylesheet.
    var stylesheet: String
    /// The address of the icon.
    var icon: String
    /// The page's own value.
    var page: any Sendable
    /// What stands in the place of the service's logo.
    var siteInitials: String
    /// What stands in the place of the application's logo.
    var applicationInitials = ""
    /// Whether a user name is in its field already, so that typing goes on in the next.
    var usernameKept = false
    /// Whether the person allowed what was asked.
    var allowed = false
    /// Whether the person denied it.
    var denied = false
    /// Whether the service refused it.
    var refused = false
    /// How long to wait before the next try.
    var wait: Wait?
    /// Where the answer goes.
    var destination: Destination?

    /// A waiting time, in the unit in which a person would say it.
    struct Wait {
        let count: Int
        let minutes: Bool
        let one: Bool

        init?(seconds: Int?) {
            guard let seconds, seconds > 0 else { return nil }
            minutes = seconds >= 60
            count = minutes ? (seconds - 1) / 60 + 1 : seconds
            one = count == 1
        }
    }

    /// The kinds of redirect destination; one is there, the others are nil or false.
    struct Destination {
        var thisComputer: String?
        var thisComputerByName = false
        var app: String?
        var website: String?

        init(_ destination: ConsentPage.RedirectDestination) {
            switch destination {
            case .thisComputer(let host): thisComputer = host
            case .thisComputerByName: thisComputerByName = true
            case .app(let scheme): app = scheme
            case .website(let host): website = host
            }
        }
    }
}
