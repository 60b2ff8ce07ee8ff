import ArgumentParser

/// The value of --browser: open the URL in the browser, or only print the URL.
enum BrowserChoice: String, ExpressibleByArgument, CaseIterable {
    case open
    case print
}
