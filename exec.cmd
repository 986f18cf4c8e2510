@rem npm start reads "exec node start.mjs" so that no shell stands between npm and the server when it is
@rem told to stop. Windows has no exec; it finds this file in its place.
@%*
