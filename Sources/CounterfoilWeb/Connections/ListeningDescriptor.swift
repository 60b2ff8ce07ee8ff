import Foundation

/// A listening socket that another program has opened.
enum ListeningDescriptor {
    /// Changes the maximum number of connections that wait to be accepted.
    static func setBacklog(of descriptor: Int32, to backlog: Int32) { _ = listen(descriptor, backlog) }
}
