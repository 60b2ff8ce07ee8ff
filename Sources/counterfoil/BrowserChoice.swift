import ArgumentParser

/// The handling of a URL for the browser: open it, or only print it.
enum BrowserChoice: String, ExpressibleByArgument, CaseIterable {
    case open
    case print
}
